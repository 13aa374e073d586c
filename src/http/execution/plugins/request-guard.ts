import type { Plugin } from 'graphql-yoga';
import { apiError, documentError, documentErrors } from '../../../graphql/errors.ts';
import { JsonMeter, type JsonBounds } from '../../../lib/json-meter.ts';
import { acceptsAnswers } from '../../exchange/accept.ts';
import type { RequestContext } from '../operation-context.ts';
import {
  type GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  validate,
  type Source,
  type DocumentNode,
  OperationTypeNode,
  type ExecutionArgs,
  type ExecutionResult,
} from 'graphql';
import { findOperation, documentFault } from '../../../graphql/limits/document-limits.ts';
import type { HttpLimits } from '../../limits/limits.ts';
import type { RequestObserver } from '../../http-context.ts';
import type { HttpContext } from '../../http-context.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { tracedEntry } from '../../../telemetry/tracing.ts';
import { isTrusted } from '../../../domain/viewer.ts';

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

const MOST_OF_A_NAME = 100;

/**
 * A span per query and mutation over any transport, starting when the request arrived, and an end of its reads. Comes after the
 * executing plugins.
 */
export function tracedOperations(http: EndsOf): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      const execute = executeFn as Execute;
      setExecuteFn((args: ExecutionArgs) => inSpan(args, () => untilEnd(args, http, execute(args))));
    },
  };
}

export function inSpan<T>(args: ExecutionArgs, execute: () => T): T {
  const { contextValue, document } = args;
  const { caller, startedAt, traceparent } = contextValue as RequestContext & GraphQLContext;
  const definition = findOperation(document, args.operationName)?.definition;
  const type = definition?.operation ?? OperationTypeNode.QUERY;
  const name = (definition?.name?.value ?? 'anonymous').slice(0, MOST_OF_A_NAME);
  return tracedEntry(
    `${type} ${name}`,
    {
      parent: mayContinueTraces(caller) ? (traceparent ?? null) : null,
      kind: 'server',
      attributes: { 'graphql.operation.type': type, 'graphql.operation.name': name },
      startedAt,
    },
    execute,
  );
}

/** The parts of the context by which an operation is ended. */
type EndsOf = Pick<HttpContext, 'probes'> & { readonly limits: Pick<HttpLimits, 'maxReadMs'> };

/**
 * A query whose reads take too long, or for which nobody waits any more, becomes an error. Mutations are always finished, but
 * nobody waits for a database that does not answer.
 */
export function untilEnd<T>(args: ExecutionArgs, http: EndsOf, result: T | Promise<T>): T | Promise<T> {
  const { answer } = args.contextValue as RequestContext;
  const { maxReadMs } = http.limits;
  if (!(result instanceof Promise)) return result;
  const type = findOperation(args.document, args.operationName)?.definition.operation;
  if (type !== OperationTypeNode.QUERY) return whileAnswered(result, http);
  return answer.reading.untilEnd(result, maxReadMs, () =>
    apiError('UNAVAILABLE', `The query took longer than ${String(maxReadMs / 1_000)} s to read`),
  );
}

/** A mutation that takes longer waits only as long as the database answers others. Milliseconds. */
const SILENT_AFTER_MS = 8_000;

/** The result. Rejects if it takes long and the database accepts no other write either. */
async function whileAnswered<T>(result: Promise<T>, { probes, limits }: EndsOf): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<never>((_resolve, reject) => {
    const ask = (): void => {
      probes['database']?.().then(
        () => void timer?.refresh(),
        () => reject(unknownOutcome()),
      );
    };
    timer = setTimeout(ask, Math.min(SILENT_AFTER_MS, limits.maxReadMs));
  });
  try {
    return await Promise.race([result, silent]);
  } finally {
    clearTimeout(timer);
    timer = undefined;
  }
}

function unknownOutcome(): GraphQLError {
  return apiError(
    'UNAVAILABLE',
    'The database does not answer, so it is not known whether this was done, or will be: look when it is available again, or repeat it with the same idempotencyKey',
  );
}

/** Backends of the installation. The caller that continues a trace decides whether it is sampled, which costs resources. */
function mayContinueTraces({ identity }: RequestContext['caller']): boolean {
  return identity !== null && isTrusted(identity);
}

/** Validation stops after this many errors, since each may search for similar names. */
const MAX_ERRORS = 10;
/** All that GraphQL says when it stops comparing the fields of a document. */
const ABORTED = 'Validation aborted.';
const TOO_MANY_COMPARISONS = 'The document selects too many fields under one name';

/**
 * Limits the work that a document causes before it runs, and gives its faults the API's error code. Limits are checked
 * before validation, because some validation rules take quadratic time.
 */
export function documentGuard({
  introspection,
  limits,
}: HttpContext): Plugin<Pick<RequestContext, 'document'>> {
  const faults = new WeakMap<DocumentNode, GraphQLError | null>();

  function faultOf(document: DocumentNode): GraphQLError | null {
    let fault = faults.get(document);
    if (fault === undefined) {
      const words = documentFault(document, limits);
      fault = words === null ? null : documentError(words);
      faults.set(document, fault);
    }
    return fault;
  }

  return {
    onParse({ params, setParseFn }) {
      const source = params.source as string | Source;
      const { length } = typeof source === 'string' ? source : source.body;
      if (length > limits.maxDocumentLength)
        throw documentError(
          `The document has ${String(length)} characters, at most ${String(limits.maxDocumentLength)} are allowed`,
        );
      setParseFn(() => parse(source, { maxLexicalTokens: limits.maxTokens }));
      return ({ result, extendContext }) => {
        if (result !== null && !(result instanceof Error))
          extendContext({ document: result as DocumentNode });
      };
    },
    onValidate({ params, setResult, addValidationRule, setValidationFn }) {
      setValidationFn(((schema, document, rules) =>
        validate(schema, document, rules, { maxErrors: MAX_ERRORS }).map((error) =>
          error.message === ABORTED ? documentError(TOO_MANY_COMPARISONS) : error,
        )) satisfies typeof validate);
      const fault = faultOf(params.documentAST as DocumentNode);
      if (fault !== null) setResult([fault]);
      else if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ valid, result, setResult: replaceResult }) => {
        if (!valid) replaceResult(documentErrors(result as readonly GraphQLError[]));
      };
    },
  };
}

const NOT_ACCEPTABLE =
  'The accept header must allow application/graphql-response+json, application/json or text/event-stream';
const JSON_TYPE = /^application\/(?:graphql\+)?json\s*(?:;|$)/i;

const CHARSET = /;\s*charset\s*=\s*"?([^";]*)"?/i;
const UTF_8 = /^utf-?8$/i;

/** JSON in a GET's URL has the same limits as JSON in a body. */
function jsonFault({ url }: Request, name: string, bounds: JsonBounds): string | null {
  const text = new URL(url).searchParams.get(name);
  return text === null ? null : new JsonMeter(bounds).read(Buffer.from(text));
}

type HeaderOf = (name: 'content-type' | 'content-encoding') => string | null | undefined;

/** Why the body is not accepted; `null`: it is uncompressed JSON in UTF-8. */
export function bodyFault(headerOf: HeaderOf): string | null {
  const type = headerOf('content-type') ?? '';
  if (!JSON_TYPE.test(type)) return 'The body must be application/json';
  const charset = CHARSET.exec(type)?.[1]?.trim() ?? 'utf-8';
  if (!UTF_8.test(charset)) return `The charset of the body must be utf-8, got "${charset.slice(0, 40)}"`;
  const encoding = headerOf('content-encoding')?.trim() ?? '';
  if (encoding !== '' && encoding.toLowerCase() !== 'identity')
    return `The body must be sent without content-encoding, got "${encoding.slice(0, 40)}"`;
  return null;
}

/**
 * Rejects requests before their body is examined. With introspection off, callers without a token get no further, since
 * validation messages would reveal the schema. Bodies that are not JSON are rejected as well, so that pages of other origins
 * need a preflight request; browsers never send tokens on their own.
 */
export function requestGuard({ introspection, limits }: HttpContext): Plugin<object, RequestContext> {
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      if (!acceptsAnswers(request.headers.get('accept'))) {
        // None of the answer types is acceptable to the client, so this answer ignores its choice.
        const { message, extensions } = apiError('BAD_USER_INPUT', NOT_ACCEPTABLE);
        const body = { errors: [{ message, extensions: { code: extensions['code'] } }] };
        endResponse(fetchAPI.Response.json(body, { status: 406 }));
        return;
      }
      if (serverContext.refusal !== undefined) throw serverContext.refusal;
      if (serverContext.caller.identity === null && !introspection)
        throw apiError('UNAUTHENTICATED', 'This requires a token: authorization: Bearer <token>');
      const fault = request.method === 'POST' ? bodyFault((name) => request.headers.get(name)) : null;
      if (fault !== null) throw apiError('BAD_USER_INPUT', fault, { status: 415 });
      if (request.method === 'GET' && requestParser !== undefined)
        setRequestParser(async (get) => {
          const tooMuch =
            jsonFault(get, 'variables', limits.json) ?? jsonFault(get, 'extensions', limits.json);
          if (tooMuch !== null) throw apiError('BAD_USER_INPUT', tooMuch);
          try {
            return await requestParser(get);
          } catch (error) {
            if (!(error instanceof SyntaxError)) throw error;
            throw apiError('BAD_USER_INPUT', 'Variables and extensions must be JSON');
          }
        });
    },
  };
}

/** Reports every HTTP request once; a subscription when it starts. */
export function requestFigures(observer: RequestObserver): Plugin<object, RequestContext> {
  return {
    onResultProcess({ result, serverContext }) {
      const errors = 'errors' in result ? (result.errors as readonly GraphQLError[] | undefined) : undefined;
      observer.finished(operationName(serverContext), errors, serverContext.startedAt);
    },
  };
}

export function operationName({ document, params }: RequestContext): string | null {
  if (document === undefined) return null;
  return findOperation(document, params?.operationName)?.definition.name?.value ?? null;
}
