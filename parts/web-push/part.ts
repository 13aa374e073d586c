import type { Part } from '../../src/app/part.ts';
import { push } from './src/push.ts';

export const webPush = { jobs: [push] } satisfies Part;
