import {
  NoSchemaIntrospectionCustomRule,
  parse,
  validate,
  type Source,
  type DocumentNode,
  type GraphQLError,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { documentError, documentErrors } from '../../../graphql/errors.ts';
import { documentFault } from '../../../graphql/limits/document-limits.ts';
import type { HttpLimits } from '../../limits/limits.ts';

export interface DocumentGuardOptions {
  readonly introspection: boolean;
  readonly limits: HttpLimits;
}

/** Validation stops after this many errors, since each may search for similar names. */
const MAX_ERRORS = 10;

interface ParsedContext {
  document?: DocumentNode;
}

/**
 * Limits the work that a document causes before it runs, and gives its faults the API's error code. Limits are checked
 * before validation, because some validation rules take quadratic time.
 */
export function documentGuard({ introspection, limits }: DocumentGuardOptions): Plugin<ParsedContext> {
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
        validate(schema, document, rules, { maxErrors: MAX_ERRORS })) satisfies typeof validate);
      const fault = faultOf(params.documentAST as DocumentNode);
      if (fault !== null) setResult([fault]);
      else if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ valid, result, setResult: replaceResult }) => {
        if (!valid) replaceResult(documentErrors(result as readonly GraphQLError[]));
      };
    },
  };
}
