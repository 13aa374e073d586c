export function blocksOf(text: string): { language: string; code: string }[];
export function commandsIn(code: string): string[];
export function shownCommands(text: string): string[];
