import 'prettier'; // no-undeclared-package
