import type { Part } from '../../src/app/part.ts';
import { digestTime, dueNotifications, noteDue } from './src/due.ts';
import { NOTIFICATIONS } from './src/settings.ts';
import { NOTIFICATION_STATES } from './src/store/states.ts';

export const notifications = {
  collections: [NOTIFICATION_STATES],
  settings: NOTIFICATIONS,
  jobs: [dueNotifications],
  eventNotes: [noteDue],
  digestTimes: [digestTime],
  api: () => import('./src/api/events.ts'),
} satisfies Part;
