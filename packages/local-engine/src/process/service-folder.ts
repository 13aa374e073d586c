import { mkdirSync } from 'node:fs';
import { ownFolder } from './own-file.ts';
import type { Launch } from '../launch.ts';
import { giveTo } from './service-user.ts';

/** The folder a service works in, which only its user (and root) can enter. Folders of earlier versions become so. Fails when it is a link. */
export async function serviceFolder(folder: string, uid: number, launch: Launch): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid: owner } = ownFolder(folder, 0o700);
  if (owner !== uid) await giveTo(uid, folder, launch.path);
}
