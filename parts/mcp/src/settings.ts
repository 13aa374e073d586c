import { oneOf } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { setting } from '../../../src/config/settings.ts';

/** Which tools there are. */
export const MCP = partSettings({
  group: 'Server',
  settings: {
    MCP: setting(
      'off',
      oneOf(['off', 'on', 'write']),
      'Whether programs with a token get tools at /mcp: on reads only, write also hides actions and resolves reports; see mcp.md.',
    ),
  },
  of: ({ MCP: tools }) => tools,
});
