export type Environment = Readonly<Record<string, string | undefined>>;

/** A frozen copy of this process's environment. No other code reads `process.env`. */
export function readEnvironment(): Environment {
  return Object.freeze({ ...process.env });
}
