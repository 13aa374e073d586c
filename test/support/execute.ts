import type { Role } from '../../src/domain/viewer.ts';
import type { TestApp } from './app.ts';
import type { TypedDocumentString } from './generated/graphql.ts';

/** Runs a document with its types. Rejects when there are errors. */
export async function execute<Result, Variables extends Readonly<Record<string, unknown>>>(
  app: Pick<TestApp, 'query'>,
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  as: { readonly sub: string; readonly roles?: readonly Role[] },
): Promise<Result> {
  const { data, errors } = await app.query<Result>(document.toString(), variables, as);
  if (data === null || errors.length > 0) throw new Error(`The operation failed: ${JSON.stringify(errors)}`);
  return data;
}
