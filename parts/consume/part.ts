import type { Part } from '../../src/app/part.ts';
import { addConsume } from './src/index.ts';

export const consume = { commands: addConsume } satisfies Part;
