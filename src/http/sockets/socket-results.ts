import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { WrittenResult } from '../../graphql/rendering/answer.ts';
import { toByteText } from '../../lib/byte-text.ts';
import type { SocketFrames } from '../exchange/socket-frames.ts';

/** Sends a result as it is written; the protocol would write it again. Like a stream that ends at once. */
export async function* sent(
  result: WrittenResult,
  frames: SocketFrames,
): AsyncGenerator<ExecutionResult, void, void> {
  await frames.send(toByteText(result.stringify(presentResult(result))), true);
}

/** Omits fields for HTTP only. */
export function presentError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON();
  if (extensions === undefined) return rest;
  const { http: _http, ...shown } = extensions;
  return { ...rest, extensions: shown };
}

export function presentResult({ errors, ...rest }: ExecutionResult): FormattedExecutionResult {
  return errors === undefined ? rest : { ...rest, errors: errors.map(presentError) };
}
