import { addArchive, examineOffloads } from '../parts/archive/src/index.ts';
import { addDemo } from '../parts/demo/src/index.ts';
import { MEMBERS } from '../parts/demo/src/people.ts';
import { addImport } from '../parts/import/src/index.ts';
import { addOperators } from '../parts/operators/src/index.ts';
import { addPlan } from '../parts/planner/src/index.ts';
import { addShard } from '../parts/sharding/src/index.ts';
import { addTenants } from '../parts/tenants/src/index.ts';
import { examineWebhooks } from '../parts/webhooks/src/examine.ts';
import type { ProgramParts } from './cli/program.ts';

/** What parts bring to the command line. */
export const PROGRAM_PARTS: ProgramParts = {
  // In the order in which the help lists them.
  commands: [addOperators, addImport, addArchive, addDemo, addPlan, addShard, addTenants],
  examinations: [examineOffloads, examineWebhooks],
  processes: () => import('../parts/processes/src/index.ts'),
  people: MEMBERS,
};
