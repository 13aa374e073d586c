import type { Document } from 'mongodb';

/** A value in a pipeline, as it is: without this a string that begins with "$" would be read as a path. */
export function literal(value: unknown): Document {
  return { $literal: value };
}
