import { randomBytes } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { SecretDocument } from '../documents/installation-documents.ts';
import { retryOnDuplicateKey } from './errors.ts';
import { ofInstallation } from '../documents/declaration.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly secrets: ReturnType<typeof secretsRepository>;
  }
}

export const SECRETS = ofInstallation('secrets', 'a secret that all processes share');

const BYTES = 32;

/** Unique key: `_id`. If two processes ask first at once, both get the value that one of them stored. */
export function secretsRepository(collection: Collection<SecretDocument>) {
  return {
    /** Random bytes by name, created on first use and then shared by all processes. */
    async shared(name: string): Promise<Uint8Array> {
      const document = await retryOnDuplicateKey(() =>
        collection.findOneAndUpdate(
          { _id: name },
          { $setOnInsert: { value: randomBytes(BYTES).toString('base64url') } },
          { upsert: true, returnDocument: 'after' },
        ),
      );
      if (document === null) throw new Error('An upsert returned no document');
      return Buffer.from(document.value, 'base64url');
    },
  };
}
