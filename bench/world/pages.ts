import type { Db } from 'mongodb';
import { descriptorOfType } from '../../src/descriptors/registry.ts';
import { DEFAULT_LOCALE } from '../../src/descriptors/locale.ts';
import { liveName } from '../../src/graphql/live-names.ts';
import { summaryOf } from '../../src/graphql/sentences.ts';
import type { ActionDocument, NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import type { InProcess } from '../harness/in-process.ts';

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
  const { services } = fanfare.app;
  const page = await services.readFeed(services.openSession(fanfare.identity(reader)), { first });
  if (page.edges.length !== first) throw new Error(`The page has ${String(page.edges.length)} entries`);
}

/** The same with the names that a frontend shows: of the actors, of the refs, and in the line of words. */
export async function serviceNamedPage(fanfare: InProcess, reader: string, first: number): Promise<void> {
  const { services } = fanfare.app;
  const session = services.openSession(fanfare.identity(reader));
  const page = await services.readFeed(session, { first });
  if (page.edges.length !== first) throw new Error(`The page has ${String(page.edges.length)} entries`);
  await Promise.all(
    page.edges.flatMap(({ node: { action } }): Promise<unknown>[] => {
      const type = descriptorOfType(action.descriptor.type);
      return [
        session.members.load(action.actorId),
        ...action.refs.map((ref) => liveName(session, ref.id)),
        ...(type === undefined ? [] : [summaryOf(session, action, type, DEFAULT_LOCALE)]),
      ];
    }),
  );
}
