import type { Part } from '../../src/app/part.ts';
import { digestTime, dueNotifications, noteDue } from './src/due.ts';
import { NOTIFICATIONS } from './src/settings.ts';
import { PUSH_REGISTRATIONS } from './src/store/push.ts';
import { NOTIFICATION_STATES } from './src/store/states.ts';

export const notifications = {
  collections: [NOTIFICATION_STATES, PUSH_REGISTRATIONS],
  settings: NOTIFICATIONS,
  core: (config) => ({ pushPublicKey: config.of(NOTIFICATIONS).push?.publicKey }),
  jobs: [dueNotifications],
  eventNotes: [noteDue],
  digestTimes: [digestTime],
  api: () => Promise.all([import('./src/api/events.ts'), import('./src/api/push.ts')]),
} satisfies Part;
