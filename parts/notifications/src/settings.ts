import { durationOrOff } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { setting } from '../../../src/config/settings.ts';

export const NOTIFICATIONS = partSettings({
  group: 'Events',
  settings: {
    NOTIFY_AFTER: setting(
      '0s',
      durationOrOff('0s', '52w'),
      'How long events are gathered before `notification.due` is recorded for a member; off: never.',
    ),
  },
  of: (values) => ({
    /** `null`: nobody is notified of anything outside of the list. */
    notifyAfterMs: values.EVENT_RETENTION === undefined ? null : (values.NOTIFY_AFTER ?? null),
  }),
});
