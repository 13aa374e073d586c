import { traced } from '../telemetry/tracing.ts';

/** Something that can be done: what it needs to do it, then what its caller says. */
type UseCase<Parts> = (parts: Parts, ...args: never[]) => unknown;

/** The same without what it needs. */
type Bound<F> = F extends (parts: never, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** Gives each of the use cases its parts, so that callers need not know of them. */
export function bound<Parts, UseCases extends Readonly<Record<string, UseCase<Parts>>>>(
  parts: Parts,
  useCases: UseCases,
): { readonly [Name in keyof UseCases]: Bound<UseCases[Name]> } {
  const entries = Object.entries(useCases).map(
    ([name, useCase]) =>
      [name, (...args: never[]) => traced(name, {}, () => useCase(parts, ...args))] as const,
  );
  return Object.fromEntries(entries) as { readonly [Name in keyof UseCases]: Bound<UseCases[Name]> };
}
