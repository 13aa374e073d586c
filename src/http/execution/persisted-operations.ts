import type { GraphQLError } from 'graphql';
import { apiError, documentError } from '../../graphql/errors.ts';
import type { Caller } from '../identity/caller.ts';
import type { PersistedDocuments } from './persisted-file.ts';

/** What clients may send with a document, or instead of one. */
export interface OperationParams {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly doc_id?: unknown;
  readonly extensions?: unknown;
}

/** Parameters of a request that Yoga does not know. */
export const ID_PARAMS = ['documentId', 'doc_id'] as const;

/**
 * Listed operations, by the ids that clients send instead of documents: `documentId` as in GraphQL over HTTP, `doc_id` as
 * sent by Relay, and `extensions.persistedQuery.sha256Hash` as sent by Apollo.
 */
export class PersistedOperations {
  readonly #documents: PersistedDocuments;
  readonly #texts: ReadonlySet<string>;
  readonly #isOnly: boolean;

  /** @param isOnly users may send no other documents. */
  constructor(documents: PersistedDocuments, isOnly: boolean) {
    this.#documents = documents;
    this.#texts = new Set(documents.values());
    this.#isOnly = isOnly;
  }

  /** The document with an id. @throws an API error if the list has none. */
  find(id: string): string {
    const document = this.#documents.get(id) ?? this.#documents.get(id.replace(/^sha256:/, ''));
    if (document !== undefined) return document;
    // This message makes Apollo clients send the document, which helps only if other documents are allowed.
    throw documentError(
      this.#isOnly
        ? 'The list of persisted operations has no operation with this id'
        : 'PersistedQueryNotFound',
    );
  }

  /**
   * Whether a caller may send this document. Services and admins may send any, since they belong to the installation and
   * operators' tools need it. A document that is listed word for word is as good as its id.
   */
  allows(query: string, { identity }: Caller): boolean {
    if (!this.#isOnly || this.#texts.has(query)) return true;
    return identity !== null && (identity.roles.has('service') || identity.roles.has('admin'));
  }

  /** @throws FORBIDDEN where it does not allow the document. */
  check(query: string, caller: Caller): void {
    if (this.allows(query, caller)) return;
    throw apiError(
      'FORBIDDEN',
      'Only persisted operations are allowed: send the id of one instead of a document',
    );
  }
}

/** Where there is no list. This message makes Apollo clients send documents from now on. */
export function noOperationsById(): GraphQLError {
  return documentError('PersistedQueryNotSupported');
}

/** Id of the requested operation; `null`: none. The input is unvalidated. */
export function operationIdOf({ documentId, doc_id: docId, extensions }: OperationParams): string | null {
  for (const id of [documentId, docId, hashOf(extensions)])
    if (typeof id === 'string' && id !== '') return id;
  return null;
}

function hashOf(extensions: unknown): unknown {
  const { persistedQuery } = (extensions ?? {}) as { readonly persistedQuery?: unknown };
  return ((persistedQuery ?? {}) as { readonly sha256Hash?: unknown }).sha256Hash;
}
