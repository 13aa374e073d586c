import { onOff } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { setting } from '../../../src/config/settings.ts';

/** Whether the API is a subgraph. */
export const FEDERATION = partSettings({
  group: 'Server',
  settings: {
    FEDERATION: setting(
      'off',
      onOff(),
      'Whether the API is a subgraph of Apollo Federation 2; see federation.md. Needs packages that are not installed with the server.',
    ),
  },
  of: ({ FEDERATION: isOn }) => isOn,
});
