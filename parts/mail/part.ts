import type { Part } from '../../src/app/part.ts';
import { examineMails } from './src/examine.ts';
import { mails } from './src/job.ts';
import { MAILS } from './src/host.ts';
import { noteMails } from './src/note.ts';
import { mailRoutes } from './src/routes.ts';
import { MAIL } from './src/settings.ts';
import { MAILBOXES } from './src/store.ts';
import { mailMetrics } from './src/metrics.ts';

export const mail = {
  collections: [MAILBOXES],
  jobs: [mails],
  eventNotes: [noteMails],
  examination: examineMails,
  api: () => import('./src/api.ts'),
  settings: MAIL,
  host: MAILS,
  metrics: mailMetrics,
  core: (config) => ({ sendsMails: config.of(MAIL) !== null }),
  routes: mailRoutes,
} satisfies Part;
