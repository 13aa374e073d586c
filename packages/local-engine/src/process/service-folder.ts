import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import type { Launch } from '../launch.ts';
import { giveTo } from './service-user.ts';

/** The folder a service works in, which only its user (and root) can enter. Folders of earlier versions become so. */
export async function serviceFolder(folder: string, uid: number, launch: Launch): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  if (lstatSync(folder).uid !== uid) await giveTo(uid, folder, launch.path);
}
