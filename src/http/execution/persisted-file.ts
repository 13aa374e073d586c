import { readFile } from 'node:fs/promises';
import { GraphQLError, parse, validate, type GraphQLSchema } from 'graphql';
import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { ConfigError, type ConfigFault } from '../../config/config.ts';
import { documentFault } from '../../graphql/limits/document-limits.ts';
import type { HttpLimits } from '../limits/limits.ts';

/** Documents by the id that clients send instead of them. */
export type PersistedDocuments = ReadonlyMap<string, string>;

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
