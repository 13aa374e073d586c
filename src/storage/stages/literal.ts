import type { Document } from 'mongodb';

/** A literal value in a pipeline: without this, a string that starts with "$" would be read as a path. */
export function literal(value: unknown): Document {
  return { $literal: value };
}
