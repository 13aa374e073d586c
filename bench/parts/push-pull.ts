import type { PartReport } from '../harness/report.ts';
import type { Part, PartContext } from './part.ts';
import { measureReach } from './push-pull-reach.ts';
import { measureReaders } from './push-pull-readers.ts';
import { pushPullReport } from './push-pull-report.ts';

/** The actions of a ref with very many followers, pushed into their feeds or pulled by who reads. */
export const pushPullPart: Part = { name: 'push-pull', run };

async function run(context: PartContext): Promise<PartReport> {
  const reach = await measureReach(context);
  return pushPullReport(reach, await measureReaders(context));
}
