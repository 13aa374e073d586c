import type { Part } from '../../src/app/part.ts';
import { examineOffloads } from './src/examine.ts';
import { addArchive } from './src/index.ts';

export const archive = {
  commands: addArchive,
  examination: examineOffloads,
} satisfies Part;
