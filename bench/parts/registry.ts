import { againstPart } from './against.ts';
import { bumpPart } from './bump.ts';
import { coresPart } from './cores.ts';
import { fanOutPart } from './fan-out.ts';
import { growthPart } from './growth.ts';
import { hostilePart } from './hostile.ts';
import { lanesPart } from './lanes.ts';
import { modelsPart } from './models.ts';
import { mixedLoadPart } from './mixed-load.ts';
import { pagePart } from './page.ts';
import { planPart } from './plan.ts';
import type { Part } from './part.ts';
import { peerCapacityPart } from './peer-capacity.ts';
import { peerFanOutPart } from './peer-fan-out.ts';
import { peerReadPart } from './peer-read.ts';
import { publishPart } from './publish.ts';
import { pushMemoryPart } from './push-memory.ts';
import { pushPullPart } from './push-pull.ts';
import { pushPart } from './push.ts';
import { soakPart } from './soak.ts';
import { unitCostsPart } from './unit-costs.ts';

/** All parts, in the order in which they run. */
export const PARTS: readonly Part[] = [
  fanOutPart,
  bumpPart,
  peerFanOutPart,
  peerCapacityPart,
  soakPart,
  pagePart,
  coresPart,
  hostilePart,
  publishPart,
  peerReadPart,
  pushPart,
  pushMemoryPart,
  growthPart,
  mixedLoadPart,
  lanesPart,
  modelsPart,
  pushPullPart,
  unitCostsPart,
  planPart,
  againstPart,
];
