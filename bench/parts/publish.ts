import { ObjectId } from 'mongodb';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, Lane, readAnswer } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import type { PartReport } from '../harness/report.ts';
import { alternate, figureOf, median, ratioFigure, seriesNamed } from '../harness/rounds.ts';
import { ratingInput } from '../world/actions.ts';
import { PUBLISH } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';

const DATABASE = 'bench_publish';
const RAW = 'raw insertOne, p50';
const SERVICE = 'publishAction, service, p50';
const MUTATION = 'publishAction, HTTP mutation, p50';

/** Publishing on an idle machine: one raw insert, the service, the mutation. The target is judged under load. */
export const publishPart: Part = { name: 'publish', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options } = context;
  const count = sized(options, { full: 300, short: 100, smoke: 10 });
  const rounds = roundsOf(options, { full: [9, 3], short: [3, 2], smoke: [1, 0] });
  await using world = await openRawWorld(environment, DATABASE);
  await using rawWorld = await openRawWorld(environment, `${DATABASE}_raw`);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await using api = await startApi({ environment, database: DATABASE });
  const token = await tokenFor('publisher', ['service']);
  await fanfare.publish(ratingInput(0, []));
  const template = await world.actions.findOne();
  if (template === null) throw new Error('The published action is not there');
  using lane = await Lane.open({ host: '127.0.0.1', port: Number(new URL(api.url).port) });
  let published = 0;
  const measures = [
    median(RAW, count, () => rawWorld.actions.insertOne({ ...template, _id: new ObjectId() })),
    median(SERVICE, count, () => fanfare.publish(ratingInput(published++, []))),
    median(MUTATION, count, async () => {
      const request = graphqlRequest(api.url, token, PUBLISH, { input: ratingInput(published++, []) });
      const { body } = readAnswer(await lane.send(request));
      if (!body.includes('"isReplay":false')) throw new Error(`Not published: ${body}`);
    }),
  ];
  const series = await alternate(measures, rounds);
  const stored = await world.actions.countDocuments({});
  if (stored !== published + 1)
    throw new Error(`${String(stored)} actions are stored instead of ${String(published + 1)}`);
  const raw = seriesNamed(series, RAW);
  return {
    title: 'Publishing on an idle machine',
    about: [
      'One at a time, no worker. The raw insert writes the document that the server writes, into a collection with the same indexes. An acknowledged write has been synced to disk.',
    ],
    figures: [
      ...series.map((entry) => figureOf(entry, 'ms')),
      ...[SERVICE, MUTATION].map((name) => ratioFigure(`${name} / ${RAW}`, seriesNamed(series, name), raw)),
    ],
    raw: { count, series },
  };
}
