import { addArchive, examineOffloads } from '../packages/archive/src/index.ts';
import { addDemo } from '../packages/demo/src/index.ts';
import { MEMBERS } from '../packages/demo/src/people.ts';
import { addImport } from '../packages/import/src/index.ts';
import { addOperators } from '../packages/operators/src/index.ts';
import { addPlan } from '../packages/planner/src/index.ts';
import { addShard } from '../packages/sharding/src/index.ts';
import { addTenants } from '../packages/tenants/src/index.ts';
import { examineWebhooks } from '../packages/webhooks/src/examine.ts';
import type { ProgramParts } from './cli/program.ts';

/** What packages bring to the command line. */
export const PROGRAM_PARTS: ProgramParts = {
  // In the order in which the help lists them.
  commands: [addOperators, addImport, addArchive, addDemo, addPlan, addShard, addTenants],
  examinations: [examineOffloads, examineWebhooks],
  processes: () => import('../packages/processes/src/index.ts'),
  people: MEMBERS,
};
