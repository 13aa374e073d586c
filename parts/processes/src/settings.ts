import { durationOrOff } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { setting } from '../../../src/config/settings.ts';

/** How long processes may be silent, in milliseconds; `null`: for ever. */
export const PROCESSES = partSettings({
  group: 'Server',
  settings: {
    PROCESS_SILENCE: setting(
      '30s',
      durationOrOff('1s', '1h'),
      'How long a process of `--processes` may hang before it is killed and restarted; off: never, for example for a debugger.',
    ),
    PROCESS_START_SILENCE: setting(
      '2m',
      durationOrOff('1s', '1h'),
      'The same for a starting process of `--processes`, which takes longer because it loads its code; waiting for a database does not count.',
    ),
  },
  of: (values) => ({
    answersWithinMs: values.PROCESS_SILENCE ?? null,
    startAnswersWithinMs: values.PROCESS_START_SILENCE ?? null,
  }),
});
