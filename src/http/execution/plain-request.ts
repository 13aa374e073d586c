import type { IncomingMessage } from 'node:http';
import { acceptsAnswers, answerType, type AnswerType } from '../exchange/accept.ts';
import type { RequestContext } from './operation-context.ts';
import { GRAPHQL_PATH } from '../exchange/respond.ts';

/** A body as most clients send it. Faults in it are left to Yoga, which has its own messages. */
export interface PlainParams {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: unknown;
}

export interface PlainRequest {
  readonly params: PlainParams;
  /** What the answer must look like. */
  readonly type: AnswerType;
}

const JSON_TYPE = 'application/json';
const PARAMS: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions']);

/**
 * Recognises a valid request for one operation by an authenticated caller; `null`: any other request. Expects the parsed
 * body where Yoga looks for it.
 */
export function plainRequest(
  { method, url, headers, body }: IncomingMessage & { readonly body?: unknown },
  { caller, refusal }: RequestContext,
): PlainRequest | null {
  if (method !== 'POST' || url !== GRAPHQL_PATH) return null;
  if (refusal !== undefined || caller.identity === null) return null;
  const contentType = headers['content-type'];
  if (contentType !== JSON_TYPE && contentType?.startsWith(`${JSON_TYPE};`) !== true) return null;
  // A header of the preflight request, which Yoga adds to every answer.
  if (headers['access-control-request-headers'] !== undefined) return null;
  const accept = headers.accept ?? null;
  const type = acceptsAnswers(accept) ? answerType(accept) : null;
  return type === null || !areParams(body) ? null : { params: body, type };
}

function areParams(body: unknown): body is PlainParams {
  if (!isObject(body)) return false;
  for (const name in body) if (!PARAMS.has(name)) return false;
  const { query, operationName, variables, extensions } = body;
  return (
    typeof query === 'string' &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
