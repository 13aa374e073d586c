import { addArchive, examineOffloads } from '../../packages/archive/src/index.ts';
import { addDemo } from '../../packages/demo/src/index.ts';
import { addExport } from '../../packages/erasure/src/cli/index.ts';
import { addImport } from '../../packages/import/src/index.ts';
import { addPlan } from '../../packages/planner/src/index.ts';
import { addShard } from '../../packages/sharding/src/index.ts';
import { addTenants } from '../../packages/tenants/src/index.ts';
import { examineWebhooks } from '../../packages/webhooks/src/examine.ts';

/** Those that come before the commands for data. */
export const DATA_COMMANDS = [addImport, addExport];

/** Commands that packages bring, in the order in which the help lists them. */
export const COMMANDS = [addArchive, addDemo, addPlan];

/** Those that come after them, for who runs an installation. */
export const INSTALLATION_COMMANDS = [addShard, addTenants];

/** What `fanfare doctor` says about the data of packages. */
export const EXAMINATIONS = [examineOffloads, examineWebhooks];
