import argparse


def main(argv=None):
    parser = argparse.ArgumentParser(description="Count the words of a file.")
    parser.add_argument("file")
    args = parser.parse_args(argv)
    with open(args.file) as handle:
        text = handle.read()
    print(len(text.split()))


if __name__ == "__main__":
    main()
