import '../../testing/src/index.ts'; // package-tracing
