import '../../../services/alpha/src/config.ts'; // layer-testing
