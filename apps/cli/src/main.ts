import { runCommandLine } from './command-line';

// Ends at once, also where a connection is still trying to come up.
void runCommandLine(process.argv).then((code) => process.exit(code));
