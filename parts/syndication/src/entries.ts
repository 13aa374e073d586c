import { descriptorTypes } from '../../../src/descriptors/registry.ts';
import type { Locale } from '../../../src/descriptors/locale.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { onceFor } from '../../../src/lib/once-for.ts';
import { ask } from '../../../src/http/execution/ask.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import type { Caller } from '../../../src/http/identity/auth.ts';

/** Number of entries of a feed. */
export const ENTRIES = 50;

interface Page {
  readonly url: string | null;
}

/** An action as the API answers it. */
export interface Entry {
  readonly id: string;
  readonly conducted: string;
  readonly editedAt: string | null;
  readonly actor: Page & { readonly memberId: string; readonly name: string };
  readonly refs: readonly (Page & {
    readonly refId: string;
    readonly type: string;
    readonly label: string;
  })[];
  readonly content: {
    readonly rating: { readonly value: number; readonly max: number } | null;
    readonly media: readonly {
      readonly url: string;
      readonly alt: string;
      readonly kind: string;
      readonly width: number | null;
      readonly height: number | null;
    }[];
  };
  readonly descriptor: {
    readonly type: string;
    readonly tags: readonly string[];
    readonly summaryParts: readonly {
      readonly text: string;
      readonly member: Page | null;
      readonly ref: Page | null;
    }[];
    /** Texts of the type, by aliases of the query. */
    readonly [alias: string]: unknown;
  };
}

/** A feed in no format yet. */
export interface Entries {
  /** Whose it is. */
  readonly title: string;
  /** The page of what it is about. */
  readonly url: string | null;
  readonly entries: readonly Entry[];
}

export interface Asked {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly locale: Locale;
}

interface Slice {
  readonly edges: readonly { readonly node: Entry }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/**
 * Public actions of a ref. @param after a cursor; `null`: from the newest. @param asked.identity one who is nobody
 * @throws FanfareError NOT_FOUND if there is none; BAD_CURSOR
 */
export async function entriesOfRef(
  http: HttpContext,
  { refId, after }: { readonly refId: string; readonly after: string | null },
  asked: Asked,
): Promise<Entries & { readonly next: string | null }> {
  const { ref, slice } = await ask<{
    ref: { readonly label: string; readonly url: string | null } | null;
    slice: Slice;
  }>(http, { ...asked, document: documentsOf(http.schema).ref, variables: { refId, first: ENTRIES, after } });
  const entries = slice.edges.map(({ node }) => node);
  // Whether there is such a ref, and what it is called, is nothing for everybody unless a public action says so.
  if (entries.length === 0 && after === null)
    throw new FanfareError('NOT_FOUND', 'There are no public actions about this, or no longer');
  const { hasNextPage, endCursor } = slice.pageInfo;
  return {
    ...{ title: ref?.label ?? refId, url: ref?.url ?? null, entries },
    next: hasNextPage ? endCursor : null,
  };
}

/** A public action. @param asked.identity one who is nobody @throws FanfareError NOT_FOUND; BAD_USER_INPUT if it is no id */
export async function entryOf(http: HttpContext, id: string, asked: Asked): Promise<Entry> {
  const document = documentsOf(http.schema).action;
  const { action } = await ask<{ action: Entry | null }>(http, { ...asked, document, variables: { id } });
  if (action === null) throw new FanfareError('NOT_FOUND', 'There is no such public action, or no longer');
  return action;
}

/** The newest of a member's feed. */
export async function entriesOfMember(http: HttpContext, asked: Asked): Promise<Entries> {
  const { viewer, feed } = await ask<{
    viewer: { readonly memberId: string; readonly member: { readonly name: string } | null };
    feed: { readonly edges: readonly { readonly node: { readonly action: Entry } }[] };
  }>(http, { ...asked, document: documentsOf(http.schema).me, variables: { first: ENTRIES } });
  const entries = feed.edges.map(({ node }) => node.action);
  return { title: viewer.member?.name ?? viewer.memberId, url: null, entries };
}

/** The texts of an entry, in the order of its type. */
export function textsOf({ descriptor }: Entry): string[] {
  return Object.entries(descriptor).flatMap(([alias, value]) =>
    alias.startsWith(TEXT) && typeof value === 'string' && value.trim() !== '' ? [value] : [],
  );
}

/** The text of a field. */
export function textOf({ descriptor }: Entry, field: string): string {
  const value = descriptor[`${TEXT}${descriptor.type}_${field}`];
  return typeof value === 'string' ? value : '';
}

const TEXT = 'text_';

/** By the types of the process, which the schema has too. */
const documentsOf = onceFor((_schema: object) => {
  const texts = descriptorTypes().map(({ type, fieldList }) => {
    const names = fieldList.flatMap(({ name, field }) => (field.kind === 'text' ? [name] : []));
    // Fields of one name may have different types.
    const fields = names.map((name) => `${TEXT}${type}_${name}: ${name}`);
    return fields.length === 0 ? '' : `... on ${type}Descriptor { ${fields.join(' ')} }`;
  });
  const entry = `fragment Entry on Action {
    id conducted editedAt actor { memberId name url } refs { refId type label url }
    content { rating { value max } media { url alt kind width height } }
    descriptor { type tags summaryParts { text member { url } ref { url } } ${texts.join(' ')} }
  }`;
  return {
    ref: `query SyndicatedRef($refId: String!, $first: Int!, $after: String) {
      ref(refId: $refId) { label url }
      slice(refId: $refId, first: $first, after: $after) {
        edges { node { ...Entry } } pageInfo { hasNextPage endCursor }
      }
    } ${entry}`,
    action: `query SyndicatedAction($id: ID!) { action(id: $id) { ...Entry } } ${entry}`,
    me: `query SyndicatedFeed($first: Int!) {
      viewer { memberId member { name } }
      feed(first: $first, order: RECENT) { edges { node { action { ...Entry } } } }
    } ${entry}`,
  };
});
