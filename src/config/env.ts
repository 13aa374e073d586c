export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process, copied and frozen. Nothing else reads `process.env`. */
export function readEnvironment(): Environment {
  return Object.freeze({ ...process.env });
}
