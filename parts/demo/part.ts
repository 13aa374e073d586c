import type { Part } from '../../src/app/part.ts';
import { addDemo } from './src/index.ts';
import { MEMBERS } from './src/people.ts';

export const demo = { commands: addDemo, people: MEMBERS } satisfies Part;
