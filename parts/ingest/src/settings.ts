import { onOff } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { setting } from '../../../src/config/settings.ts';

/** Whether lines are taken. */
export const INGEST = partSettings({
  group: 'Server',
  settings: {
    INGEST: setting(
      'off',
      onOff(),
      'Whether programs of the host may send actions line by line to /ingest; see ingest.md.',
    ),
  },
  of: ({ INGEST: isOn }) => isOn,
});
