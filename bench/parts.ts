import { planPart } from '../parts/planner/measure/plan.ts';
import { unitCostsPart } from '../parts/planner/measure/unit-costs.ts';
import type { Part } from './harness/part.ts';
import { againstPart } from './parts/against.ts';
import { besideWorstPart } from './parts/beside-worst.ts';
import { bumpPart } from './parts/bump.ts';
import { doorsPart } from './parts/doors.ts';
import { elementsPart } from './parts/elements.ts';
import { fewMatchPart, fullReaderPart, manyFollowsPart } from './parts/few-match.ts';
import { fanOutPart } from './parts/fan-out.ts';
import { liveListsPart } from './parts/live-lists.ts';
import { livePagesPart } from './parts/live-pages.ts';
import { listsPart } from './parts/lists.ts';
import { mailsPart } from './parts/mails.ts';
import { mixedLoadPart } from './parts/mixed-load.ts';
import { otherPagesPart } from './parts/other-pages.ts';
import { offPart } from './parts/off.ts';
import { pagePart } from './parts/page.ts';
import { publishPart } from './parts/publish.ts';
import { pushPart } from './parts/push.ts';
import { readsPart } from './parts/reads.ts';
import { reconnectsPart } from './parts/reconnects.ts';
import { smallActionsPart } from './parts/small-actions.ts';

/** All parts, in the order in which they run. */
export const PARTS: readonly Part[] = [
  publishPart,
  pagePart,
  otherPagesPart,
  livePagesPart,
  fewMatchPart,
  manyFollowsPart,
  fullReaderPart,
  besideWorstPart,
  listsPart,
  doorsPart,
  offPart,
  elementsPart,
  mailsPart,
  readsPart,
  fanOutPart,
  smallActionsPart,
  bumpPart,
  pushPart,
  reconnectsPart,
  liveListsPart,
  mixedLoadPart,
  unitCostsPart,
  planPart,
  againstPart,
];
