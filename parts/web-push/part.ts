import type { Part } from '../../src/app/part.ts';
import { pushMetrics } from './src/metrics.ts';
import { hurryPush, notePush } from './src/note.ts';
import { push } from './src/push.ts';
import { PUSH } from './src/settings.ts';
import { PUSH_REGISTRATIONS } from './src/store.ts';

export const webPush = {
  collections: [PUSH_REGISTRATIONS],
  settings: PUSH,
  core: (config) => {
    const keys = config.of(PUSH);
    return keys === null ? {} : { pushPublicKey: keys.publicKey, quietHoursChanged: hurryPush };
  },
  jobs: [push],
  eventNotes: [notePush],
  metrics: pushMetrics,
  api: () => import('./src/api.ts'),
} satisfies Part;
