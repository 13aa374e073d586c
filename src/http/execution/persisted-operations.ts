import { GraphQLError, parse, validate, type GraphQLSchema } from 'graphql';
import { apiError, documentError } from '../../graphql/errors.ts';
import { isTrusted } from '../../domain/viewer.ts';
import type { Caller } from '../identity/auth.ts';
import { readFile } from 'node:fs/promises';
import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { ConfigError } from '../../config/config.ts';
import type { ConfigFault } from '../../config/part-settings.ts';
import { documentFault } from '../../graphql/limits/document-limits.ts';
import type { HttpLimits } from '../limits/limits.ts';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { RequestContext } from './operation-context.ts';

/** Documents by the id that clients send instead of them. */
type PersistedDocuments = ReadonlyMap<string, string>;

export interface PersistedFileOptions {
  readonly schema: GraphQLSchema;
  readonly limits: HttpLimits;
}

const MOST_FAULTS = 20;
const MAX_ID_LENGTH = 256;

/** A document of the file, its position, and its fault, if any. */
interface Entry {
  readonly offset: number;
  readonly id: string;
  readonly document: string;
}

interface Fault {
  readonly offset: number;
  readonly message: string;
}

/**
 * Reads a list written by client tools: an object of documents by id, or an Apollo manifest. Each document must be valid for
 * the schema and within the limits, otherwise clients would only find out one by one.
 * @throws ConfigError with file, line and fault.
 */
export async function readPersistedFile(
  path: string,
  options: PersistedFileOptions,
): Promise<PersistedDocuments> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    throw new ConfigError([faultOf(`${path} cannot be read: ${(error as Error).message}`)]);
  }
  const faults: Fault[] = [];
  const documents = new Map<string, string>();
  for (const { offset, id, document } of entriesOf(text, faults)) {
    const known = documents.get(id);
    if (known !== undefined && known !== document)
      faults.push({ offset, message: `"${id}" occurs twice, with different documents` });
    documents.set(id, document);
    const message = documentFaultOf(document, options);
    if (message !== null) faults.push({ offset, message: `"${id}": ${message}` });
  }
  if (faults.length > 0) throw new ConfigError(wordsFor(path, text, faults));
  return documents;
}

function faultOf(message: string): ConfigFault {
  return { name: 'PERSISTED_OPERATIONS', message };
}

function wordsFor(path: string, text: string, faults: readonly Fault[]): ConfigFault[] {
  const shown = faults.slice(0, MOST_FAULTS).map(({ offset, message }) => {
    const line = text.slice(0, offset).split('\n').length;
    return faultOf(`${path}:${String(line)}: ${message}`);
  });
  const more = faults.length - shown.length;
  return more === 0 ? shown : [...shown, faultOf(`and ${String(more)} more`)];
}

function entriesOf(text: string, faults: Fault[]): Entry[] {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true });
  const [error] = errors;
  if (root === undefined || error !== undefined) {
    const what = error === undefined ? 'the file is empty' : printParseErrorCode(error.error);
    faults.push({ offset: error?.offset ?? 0, message: `is not JSON: ${what}` });
    return [];
  }
  if (root.type !== 'object') {
    faults.push({ offset: 0, message: 'expected an object of documents by id' });
    return [];
  }
  const isManifest = propertyOf(root, 'format')?.value === 'apollo-persisted-query-manifest';
  const entries = isManifest ? manifestEntries(root) : plainEntries(root);
  return entries.flatMap(({ offset, id, document }) => {
    const isGood = typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH;
    if (isGood && typeof document === 'string') return [{ offset, id, document }];
    const expected = isGood ? 'a document as text' : `an id of 1 to ${String(MAX_ID_LENGTH)} characters`;
    faults.push({ offset, message: `expected ${expected}` });
    return [];
  });
}

interface Found {
  readonly offset: number;
  readonly id: unknown;
  readonly document: unknown;
}

function plainEntries(root: Node): Found[] {
  return (root.children ?? []).map(({ offset, children = [] }) => {
    const [key, value] = children;
    return { offset, id: key?.value as unknown, document: value?.value as unknown };
  });
}

function manifestEntries(root: Node): Found[] {
  return (propertyOf(root, 'operations')?.children ?? []).map((node) => ({
    offset: node.offset,
    id: propertyOf(node, 'id')?.value as unknown,
    document: propertyOf(node, 'body')?.value as unknown,
  }));
}

function propertyOf({ children = [] }: Node, name: string): Node | undefined {
  return children.find((property) => property.children?.[0]?.value === name)?.children?.[1];
}

/** The first reason for which the document would be rejected when it is requested. */
function documentFaultOf(document: string, { schema, limits }: PersistedFileOptions): string | null {
  if (document.length > limits.maxDocumentLength)
    return `the document has ${String(document.length)} characters, at most ${String(limits.maxDocumentLength)} are allowed`;
  try {
    const parsed = parse(document, { maxLexicalTokens: limits.maxTokens });
    const fault = documentFault(parsed, limits) ?? validate(schema, parsed)[0]?.message;
    return fault ?? null;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** Parameters that clients may send with a document, or instead of one. */
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
    return identity !== null && isTrusted(identity);
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

/** Lets clients request listed operations by id over HTTP. Sockets do this elsewhere. */
export function persistedDocuments(persisted: PersistedOperations): Plugin<object, RequestContext> {
  const { onParams } = usePersistedOperations({
    // Whether a caller may send other documents is decided here, not in the wrapped plugin.
    allowArbitraryOperations: true,
    extractPersistedOperationId: (params, request) => operationIdOf(withIdOfUrl(params, request)),
    getPersistedOperation: (id) => persisted.find(id),
  });
  // The plugin's other hooks concern parsed documents.
  return {
    onParams(payload) {
      const { params, request, context } = payload;
      // Malformed requests are rejected elsewhere.
      if (!isObject(params)) return undefined;
      const { query } = params as OperationParams;
      if (typeof query === 'string' && query !== '') persisted.check(query, context.caller);
      if (operationIdOf(withIdOfUrl(params, request)) === null) return undefined;
      // The plugin's types assume a server without a request context.
      return onParams?.(payload as unknown as Parameters<typeof onParams>[0]);
    },
  };
}

/** Refuses ids where there is no list. A document beside an id is executed. */
export function noPersistedDocuments(): Plugin {
  return {
    onParams({ params }) {
      if (!isObject(params)) return;
      const { query, extensions } = params as OperationParams;
      if ((query === undefined || query === '') && operationIdOf({ extensions }) !== null)
        throw noOperationsById();
    },
  };
}

/** Yoga reads only known parameters from a URL. */
function withIdOfUrl(params: GraphQLParams, { method, url }: Request): OperationParams {
  if (method !== 'GET') return params;
  const { searchParams } = new URL(url);
  return { ...params, ...Object.fromEntries(ID_PARAMS.map((name) => [name, searchParams.get(name)])) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
