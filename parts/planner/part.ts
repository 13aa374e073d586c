import type { Part } from '../../src/app/part.ts';
import { addPlan } from './src/index.ts';

export const planner = { commands: addPlan } satisfies Part;
