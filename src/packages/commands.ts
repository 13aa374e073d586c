import { addPlan } from '../../packages/planner/src/index.ts';

/** Commands that packages bring. */
export const COMMANDS = [addPlan];
