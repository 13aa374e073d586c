import type { Part } from '../../src/app/part.ts';
import { events as eventMover } from './src/jobs/event-mover.ts';

export const events = { jobs: [eventMover], api: () => import('./src/api.ts') } satisfies Part;
