import type { Part } from '../../src/app/part.ts';
import { addShard } from './src/index.ts';

export const sharding = { commands: addShard } satisfies Part;
