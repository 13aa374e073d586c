import type { Db } from 'mongodb';
import type { ActionDocument, NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import { startChild, type Child } from '../harness/child.ts';
import { graphqlRequest, Lane, readAnswer, type WireRequest } from '../harness/http-lanes.ts';
import type { InProcess } from '../harness/in-process.ts';
import type { ProbeApi } from '../programs/probe.ts';
import { readFeed } from '../../src/feed/page/read-page.ts';
import { openSession } from '../../src/feed/session/open-session.ts';

/** The two queries of a first page, as the service sends them. */
export async function rawPage(db: Db, reader: string, first: number): Promise<void> {
  const items = await db
    .collection<NewsfeedItemDocument>('newsfeedItems')
    .find({ userId: reader })
    .sort({ relevancy: -1, actionId: -1 })
    .project<Pick<NewsfeedItemDocument, 'actionId'>>({ _id: 0, actionId: 1, relevancy: 1, reasons: 1 })
    .limit(first + 1)
    .batchSize(first + 1)
    .toArray();
  const actions = await db
    .collection<ActionDocument>('actions')
    .find({ _id: { $in: items.map((item) => item.actionId) } })
    .batchSize(first + 2)
    .toArray();
  if (actions.length !== first + 1) throw new Error(`The raw page has ${String(actions.length)} actions`);
}

/** A first page by the service, as a request asks for it. */
export async function servicePage(fanfare: InProcess, reader: string, first: number): Promise<void> {
  const { core } = fanfare.app;
  const page = await readFeed(core, openSession(core, fanfare.identity(reader)), { first });
  if (page.edges.length !== first) throw new Error(`The page has ${String(page.edges.length)} entries`);
}

/** Bytes of an answer. @throws Error unless it is one without errors, and has so many entries. */
export async function expectPage(request: WireRequest, entries: number): Promise<number> {
  const body = await expectAnswer(request);
  if (body.split('"cursor"').length - 1 !== entries)
    throw new Error(`Instead of what was asked for came ${body.slice(0, 500)}`);
  return Buffer.byteLength(body);
}

/** The answer. @throws Error unless it is one without errors. */
export async function expectAnswer(request: WireRequest): Promise<string> {
  using lane = await Lane.open(request);
  const { body } = readAnswer(await lane.send(request));
  if (body.includes('"errors"')) throw new Error(`An error came: ${body.slice(0, 500)}`);
  return body;
}

/** Yoga with one answer of so many bytes, in a process of its own. */
export async function startBareYoga(
  bytes: number,
): Promise<Child<ProbeApi> & { readonly url: string; readonly request: WireRequest }> {
  const child = startChild<ProbeApi>({ program: 'bench/programs/bare-yoga.ts', args: [String(bytes)] });
  const [, url = ''] = await child.line(/GraphQL +(http:\/\/\S+)\/graphql/);
  const request = graphqlRequest(url, null, '{ page }');
  const length = await expectPage(request, 0);
  if (length !== bytes)
    throw new Error(`Bare Yoga answers ${String(length)} bytes instead of ${String(bytes)}`);
  return Object.assign(child, { url, request });
}
