/** A use case: takes its dependencies first, then the caller's arguments. */
type UseCase<Parts> = (parts: Parts, ...args: never[]) => unknown;

/** The use case without its first argument. */
type Bound<F> = F extends (parts: never, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** Binds dependencies to use cases, so that callers do not need to know them. */
export function bound<Parts, UseCases extends Readonly<Record<string, UseCase<Parts>>>>(
  parts: Parts,
  useCases: UseCases,
): { readonly [Name in keyof UseCases]: Bound<UseCases[Name]> } {
  const entries = Object.entries(useCases).map(
    ([name, useCase]) => [name, (...args: never[]) => useCase(parts, ...args)] as const,
  );
  return Object.fromEntries(entries) as { readonly [Name in keyof UseCases]: Bound<UseCases[Name]> };
}
