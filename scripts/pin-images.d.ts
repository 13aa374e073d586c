/** The files that name images, below the root. */
export const FILES: readonly string[];

/** The text with a digest beside the version of each image. */
export function pinned(text: string, digestOf: (image: string) => string): string;
