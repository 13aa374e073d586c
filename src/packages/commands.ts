import { addArchive, examineOffloads } from '../../packages/archive/src/index.ts';
import { addDemo } from '../../packages/demo/src/index.ts';
import { addImport } from '../../packages/import/src/index.ts';
import { addOperators } from '../../packages/operators/src/index.ts';
import { addPlan } from '../../packages/planner/src/index.ts';
import { addShard } from '../../packages/sharding/src/index.ts';
import { addTenants } from '../../packages/tenants/src/index.ts';
import { examineWebhooks } from '../../packages/webhooks/src/examine.ts';

/** Commands that packages bring, in the order in which the help lists them. */
export const COMMANDS = [addOperators, addImport, addArchive, addDemo, addPlan, addShard, addTenants];

/** What `fanfare doctor` says about the data of packages. */
export const EXAMINATIONS = [examineOffloads, examineWebhooks];
