import type { IncomingMessage } from 'node:http';
import { OperationTypeNode, type DocumentNode, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphQLContext } from '../../graphql/context.ts';
import { findOperation } from '../../graphql/limits/document-limits.ts';
import type { WrittenResult } from '../../graphql/rendering/answer.ts';
import { type CompiledExecution, executeCompiled } from './compiled-execution.ts';
import { corsHeaders } from '../exchange/cors.ts';
import type { HttpContext } from '../http-context.ts';
import { GRAPHQL_PATH } from '../exchange/respond.ts';
import { acceptsAnswers, answerType, type AnswerType } from '../exchange/accept.ts';
import type { RequestContext } from './operation-context.ts';
import { operationIdOf } from './persisted-operations.ts';
import { operationName, inSpan, untilEnd } from './plugins/request-guard.ts';

interface ShortWayOptions {
  /** Yoga's cache of parsed documents. */
  readonly documents: { get(text: string): DocumentNode | undefined };
  /** Creates an operation's context the way Yoga does. */
  readonly open: (request: RequestContext) => GraphQLContext | Promise<GraphQLContext>;
  readonly execution: CompiledExecution;
}

export interface PlainAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Run {
  readonly document: DocumentNode;
  readonly params: PlainParams;
}

/**
 * Fast path for the most common requests: an operation that Yoga has already parsed and validated, sent by POST as JSON and
 * answered without errors. Calls the same functions as Yoga, without the layers that other requests need. Everything else is
 * left to Yoga: a request as long as nothing has been done for it, and an answer with errors after its operation has run,
 * which is then not run again.
 */
export class ShortWay {
  readonly #http: HttpContext;
  readonly #options: ShortWayOptions;
  readonly #corsHeaders: (origin: string | undefined) => Readonly<Record<string, string>>;
  readonly #valid = new WeakSet<DocumentNode>();

  constructor(http: HttpContext, options: ShortWayOptions) {
    this.#http = http;
    this.#options = options;
    this.#corsHeaders = corsHeaders(http.corsOrigins);
  }

  /** Plugin that learns from Yoga, and hands over results of operations that ran here. Comes before other plugins. */
  plugin(): Plugin<object, RequestContext> {
    return {
      onValidate:
        ({ params }) =>
        ({ valid }) => {
          if (valid) this.#valid.add(params.documentAST as DocumentNode);
        },
      onParams({ context, setResult }) {
        const { outcome } = context;
        if (outcome === undefined) return;
        if ('error' in outcome) throw outcome.error;
        setResult(outcome.result);
      },
    };
  }

  /** `null`: Yoga must answer, with the same context. */
  async answer(req: IncomingMessage, context: RequestContext): Promise<PlainAnswer | null> {
    const request = plainRequest(req, context);
    const document = request === null ? null : this.#documentOf(request.params, context);
    if (request === null || document === null) return null;
    Object.assign(context, { params: request.params, document });
    try {
      const result = await this.#run(context, { document, params: request.params });
      if (isPlain(result)) {
        this.#http.observer.finished(operationName(context), undefined, context.startedAt);
        const headers = { 'content-type': request.type, ...this.#corsHeaders(req.headers.origin) };
        return { headers, body: result.stringify(result) };
      }
      context.outcome = { result };
    } catch (error) {
      context.outcome = { error };
    }
    return null;
  }

  /** The requested document if Yoga would run the operation; `null`: Yoga must find out. */
  #documentOf(params: PlainParams, { caller }: RequestContext): DocumentNode | null {
    const { persisted } = this.#http;
    const { query } = params;
    if (persisted !== undefined && (operationIdOf(params) !== null || !persisted.allows(query, caller)))
      return null;
    const document = this.#options.documents.get(query);
    if (document === undefined || !this.#valid.has(document)) return null;
    const type = findOperation(document, params.operationName)?.definition.operation;
    return type === undefined || type === OperationTypeNode.SUBSCRIPTION ? null : document;
  }

  async #run(context: RequestContext, { document, params }: Run): Promise<ExecutionResult | WrittenResult> {
    const { schema, observer } = this.#http;
    const { open, execution } = this.#options;
    const opening = open(context);
    const contextValue = Object.assign(context, opening instanceof Promise ? await opening : opening);
    const { variables: variableValues, operationName: name } = params;
    const args = { schema, document, contextValue, variableValues, operationName: name } as ExecutionArgs;
    const result = await inSpan(args, () => untilEnd(args, this.#http, executeCompiled(execution, args)));
    const { errors } = result;
    return errors === undefined ? result : { ...result, errors: errors.map(observer.presentError) };
  }
}

function isPlain(result: ExecutionResult | WrittenResult): result is WrittenResult {
  return result.errors === undefined && 'stringify' in result;
}

/** A body as most clients send it. Faults in it are left to Yoga, which has its own messages. */
interface PlainParams {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: unknown;
}

interface PlainRequest {
  readonly params: PlainParams;
  /** The form of the answer. */
  readonly type: AnswerType;
}

const JSON_TYPE = 'application/json';
const PARAMS: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions']);

/**
 * Recognises a valid request for one operation by an authenticated caller; `null`: any other request. Expects the parsed
 * body where Yoga looks for it.
 */
function plainRequest(
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
